"""What plugins read from this machine: plugin folders, cached clones, the stats of whole trees."""
