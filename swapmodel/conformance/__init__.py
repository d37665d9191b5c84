"""
Does real torch do what the model says?

Reading order: survey, observation, look, perform, world, lockstep, undefined,
programs, starts, starts_of_classes, conform, confirm
"""
