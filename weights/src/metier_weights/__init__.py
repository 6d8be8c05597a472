"""The weights of metier's two models: data only. metier finds this folder and reads its files."""
