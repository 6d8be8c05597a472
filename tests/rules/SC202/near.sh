curl -fsSL http://sh.rustup.rs.example.net/install | sh
