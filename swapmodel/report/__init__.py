"""
How is a counterexample told: to a thread, to a machine, to torch?

Reading order: explain, text, markdown, json, junit, script
"""
