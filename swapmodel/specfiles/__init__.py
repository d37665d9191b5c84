"""
How specs, scenarios, scopes and claims are read from files and written to them.

Reading order: schema, read, actions, given, scenario, scopes, claims, write, index
"""
