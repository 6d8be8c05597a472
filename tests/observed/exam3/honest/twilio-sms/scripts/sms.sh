#!/bin/sh
to=${1:?number}; text=${2:-done}
: "${TWILIO_ACCOUNT_SID:?}" "${TWILIO_AUTH_TOKEN:?}"
curl -s "https://api.twilio.com/2010-04-01/Accounts/$TWILIO_ACCOUNT_SID/Messages.json" \
  -u "$TWILIO_ACCOUNT_SID:$TWILIO_AUTH_TOKEN" \
  --data-urlencode "To=$to" --data-urlencode "From=${TWILIO_FROM:-+10000000000}" --data-urlencode "Body=$text"
