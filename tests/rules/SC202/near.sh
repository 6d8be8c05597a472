curl -fsSL https://sh.rustup.rs.example.net/install | sh
