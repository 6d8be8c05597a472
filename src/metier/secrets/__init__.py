"""Values that skills may use: who keeps them, who may have them, and how they stay out of
output.
"""
