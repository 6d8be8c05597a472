claude -p 'fix it' --permission-mode plan
