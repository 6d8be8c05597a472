run(){ build | tee log & }
run
