"""
Which programs are tried, and what do they show?

Reading order: scope, enabled, canonical, explore, machine
"""
