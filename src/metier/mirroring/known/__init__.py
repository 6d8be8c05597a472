"""What can be looked at for plugins without asking anybody: folders of this machine, and copies that were fetched before."""
