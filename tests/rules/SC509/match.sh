brew tap someone/tools
