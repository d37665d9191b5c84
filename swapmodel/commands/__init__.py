"""
Which commands go beyond running, checking and claiming?  One file for each.

Reading order: arguments, lookup, hunt, necessity, index, recordings
"""
