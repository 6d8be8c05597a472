from setuptools import setup
from build_ext import Build

setup(name="t", cmdclass={"build_ext": Build})
