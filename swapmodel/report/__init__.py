"""
How is a counterexample told: to a thread, to a machine, to torch?

Reading order: snippets, optimizers, names, functions, spelling, start, questions,
changes, owners, explain, text, diagram, markdown, json, evidence, script, verdicts,
schema, junit, lookup
"""
