brew tap hashicorp/tap
brew install jq
