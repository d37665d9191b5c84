"""
Which commands go beyond running and checking?  One file for each.

Reading order: arguments, lookup, hunt, necessity, claims, index,
recordings, agree
"""
