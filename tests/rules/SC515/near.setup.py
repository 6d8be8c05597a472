from setuptools import setup

setup(name="t", packages=["t"])
