"""
What will a conversion do to this module here?

Reading order: reasons, kinds, counters, windows, holders, lift, retold, judge
"""
