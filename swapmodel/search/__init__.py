"""
Which programs are tried, and what do they show?

Reading order: scope, enabled, shapes, canonical, explore, shared, machine, witness,
hunt
"""
