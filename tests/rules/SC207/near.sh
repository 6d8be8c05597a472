kubectl get secret web -o jsonpath='{.data.token}' | base64 -d
