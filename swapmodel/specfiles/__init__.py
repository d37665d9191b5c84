"""
How specs, scenarios, scopes and claims are read from files and written to them.

Reading order: schema, files, toml, rules, texts, checks, read, actions, given,
expect, scenario, scopes, write_given, write, claims, differences, goals, provenance,
index
"""
