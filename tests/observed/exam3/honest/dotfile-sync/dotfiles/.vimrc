set number
set expandtab shiftwidth=4
syntax on
