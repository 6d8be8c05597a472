"""Where skills come from: how a source is named, what it lists, which skills it holds. No I/O."""
