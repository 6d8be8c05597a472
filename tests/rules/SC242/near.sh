grep PATH ~/.bashrc
. ~/.bashrc
