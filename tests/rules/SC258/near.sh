cat ~/.aws/config
