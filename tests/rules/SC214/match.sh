unzip -P letmein tools.zip
