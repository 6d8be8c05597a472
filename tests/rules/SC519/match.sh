pip install --trusted-host packages.example.net tool
