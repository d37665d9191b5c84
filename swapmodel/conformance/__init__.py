"""
Does real torch do what the model says?

Reading order: observation, world, lockstep, record, releases
"""
