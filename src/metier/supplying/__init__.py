"""The library's side of supply: where skills are put, how they are fetched and judged, and each verb in a module of its own."""
