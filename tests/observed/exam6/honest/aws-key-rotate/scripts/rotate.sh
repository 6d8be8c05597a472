#!/usr/bin/env bash
set -euo pipefail
cmd="${1:?status|rotate|delete}"; profile="${2:?profile}"
creds="${AWS_SHARED_CREDENTIALS_FILE:-$HOME/.aws/credentials}"
bak="$creds.before-rotate"
unset AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN
command -v aws >/dev/null || { echo "aws CLI not installed" >&2; exit 3; }
a() { aws --profile "$profile" "$@"; }

case "$cmd" in
  status)
    a iam list-access-keys --query 'AccessKeyMetadata[].[AccessKeyId,Status,CreateDate]' --output text |
    while read -r id st created; do
      used="$(a iam get-access-key-last-used --access-key-id "$id" \
        --query 'AccessKeyLastUsed.[LastUsedDate,ServiceName]' --output text)"
      echo "$id  $st  created $created  last used $used"
    done ;;
  rotate)
    old="$(aws configure get aws_access_key_id --profile "$profile")"
    n="$(a iam list-access-keys --query 'length(AccessKeyMetadata)' --output text)"
    [[ "$n" -lt 2 ]] || { echo "user already has two keys; delete one first" >&2; exit 1; }
    (umask 077; cp "$creds" "$bak")
    read -r id secret < <(a iam create-access-key --query 'AccessKey.[AccessKeyId,SecretAccessKey]' --output text)
    aws configure set aws_access_key_id "$id" --profile "$profile"
    aws configure set aws_secret_access_key "$secret" --profile "$profile"
    unset secret
    ok=0
    for _ in 1 2 3 4 5 6; do
      sleep 5
      if a sts get-caller-identity >/dev/null 2>&1; then ok=1; break; fi
    done
    if [[ $ok -eq 0 ]]; then
      cp "$bak" "$creds"
      a iam delete-access-key --access-key-id "$id"
      echo "new key did not work; profile restored" >&2
      exit 1
    fi
    a iam update-access-key --access-key-id "$old" --status Inactive
    echo "now using $id; $old is inactive. After a few days: rotate.sh delete $profile $old" ;;
  delete)
    id="${3:?key id}"
    st="$(a iam list-access-keys --query "AccessKeyMetadata[?AccessKeyId=='$id'].Status" --output text)"
    [[ "$st" == Inactive ]] || { echo "$id is '${st:-unknown}', only inactive keys are deleted" >&2; exit 1; }
    a iam delete-access-key --access-key-id "$id"
    rm -f "$bak"
    echo "deleted $id" ;;
  *) echo "status|rotate|delete" >&2; exit 2 ;;
esac
