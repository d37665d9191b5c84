"""
What will a conversion do to this module here?

Reading order: reasons, kinds, counters, windows, holders, reader, lift, retold, judge,
samples, agree, table
"""
