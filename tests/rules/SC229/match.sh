grep -rE 'api_key|secret' ~/ 2>/dev/null
