"""Where code of others comes from: the rules SC5xx, and the names that their analyzer compares
with.
"""

from __future__ import annotations

from metier.scan.model import ScanRule, word_set

_PIN = "Pin the version, and check who publishes the package."

RULES = (
    ScanRule("SC501", "high", "supply", "A package's name is nearly that of a well-known one",
         "Malicious packages are published under names that are easily mistyped or misread.",
         "Compare the name letter by letter with the one that is meant."),
    ScanRule("SC502", "medium", "supply", "A package is installed from an address",
         "What lies at an address is not reviewed by any index and may change at any time.", "Install it from the index, pinned."),
    ScanRule("SC503", "low", "supply", "A package is installed from a repository",
         "A branch changes with every commit, and installing runs its code.", "Pin the full "
                                                                              "commit."),
    ScanRule("SC504", "medium", "supply", "Packages are installed from another index",
         "Whoever runs the index can send other code under a trusted name.",
         "Use the default index, or name the index for one package only."),
    ScanRule("SC505", "info", "supply", "A package is fetched and run in one step",
         "It runs before anyone has looked at it.", _PIN),
    ScanRule("SC506", "low", "supply", "The newest version of a package is fetched and run "
                                       "without asking",
         "Whatever was published last runs at once, also if it was published by someone else.", _PIN),
    ScanRule("SC507", "info", "supply", "The newest version of a program is built and installed "
                                        "from its source",
         "Whatever was pushed last is built and installed.", _PIN),
    ScanRule("SC509", "low", "supply", "A package source of a third party is added",
         "It may offer any package from then on, and updates come from it.", "Check who runs the "
                                                                             "source."),
    ScanRule("SC510", "medium", "supply", "A container of a third party gets the user's files or "
                                        "the container service",
         "The image can read and change them, and its newest version is used.",
         "Pin the image by digest, and mount only what it needs."),
    ScanRule("SC511", "medium", "supply", "A signing key or package source is added to the system",
         "Packages signed with the key are trusted like the system's own.", "Check whose key it "
                                                                            "is."),
    ScanRule("SC512", "critical", "supply", "Installing the package fetches or hides code and "
                                            "runs it",
         "The code runs on installation, before anyone uses the package.", "Do not install it."),
    ScanRule("SC513", "low", "supply", "Installing the package runs a command",
         "It runs on installation, before anyone uses the package.", "Read the command, or "
                                                                     "install with "
                                                                     "--ignore-scripts."),
    ScanRule("SC514", "medium", "supply", "A dependency comes from an address or a repository",
         "What lies there is not reviewed by any index and may change at any time.", "Depend on a "
                                                                                     "release, pinned."),
    ScanRule("SC515", "medium", "supply", "The package changes how it is installed",
         "Its own code runs on installation.", "Read the code before installing."),
    ScanRule("SC516", "medium", "supply", "A program is run straight from an address",
         "Whoever controls the address decides what runs.", "Download it, read it, and pin it by "
                                                            "checksum."),
    ScanRule("SC517", "low", "supply", "A program or archive is downloaded",
         "What it holds cannot be read before it is unpacked and run.", "Check its checksum "
                                                                        "against one published "
                                                                        "elsewhere."),
    ScanRule("SC518", "low", "supply", "A tool server, plugin or skill is added to an agent",
         "It gives the agent new instructions and tools, and its own code runs beside it.", "Review it like this skill."),
    ScanRule("SC520", "high", "escalation", "The agent's questions before it acts are switched off",
         "Whatever a later text tells the agent is then done without anybody being asked.", "Take the setting out."),
    ScanRule("SC521", "high", "exfiltration", "A hook hands on what the agent is told or does",
         "It runs at every prompt or tool use, unseen, and sends what passes through it.", "Take the hook out."),
    ScanRule("SC522", "high", "supply", "A tool server of unknown origin is added to the agent",
         "Nothing tells who stands behind it, and it sees what the agent hands to it.", "Take the server out."),
    ScanRule("SC523", "high", "persistence", "Git is made to run something or to talk to another host",
         "Every later fetch, push or commit goes through it.", "Take the setting out."),
    ScanRule("SC526", "high", "exfiltration", "Settings name private files and an address to deliver to",
         "Whatever reads the settings hands the files over.", "Take the files or the address out."),
    ScanRule("SC524", "medium", "persistence", "Opening the project runs a command",
         "It runs before anyone has looked.", "See what the command does."),
    ScanRule("SC525", "high", "exfiltration", "All secrets of a build are handed to a command",
         "A step needs the one secret that it is for.", "Hand over the one that is needed."),
    ScanRule("SC519", "medium", "supply", "Packages are installed without the checks",
         "Signatures, certificates or review are what tells a package from a forgery.", "Leave the checks on."),
)  # fmt: skip

PYPI = word_set(
    "requests numpy pandas boto3 botocore urllib3 setuptools certifi python-dateutil "
    "pyyaml charset-normalizer typing-extensions cryptography packaging pydantic jinja2 "
    "markupsafe colorama pyjwt protobuf pillow matplotlib scipy scikit-learn tensorflow "
    "torch torchvision transformers openai anthropic langchain fastapi flask django "
    "uvicorn gunicorn starlette sqlalchemy psycopg2 psycopg2-binary pymysql redis celery "
    "pytest black mypy pylint flake8 poetry virtualenv httpx aiohttp websockets "
    "beautifulsoup4 lxml selenium playwright scrapy paramiko fabric ansible rich click "
    "typer tqdm python-dotenv openpyxl xlsxwriter python-docx python-pptx pypdf pypdf2 "
    "pdfplumber reportlab pymupdf opencv-python networkx sympy statsmodels seaborn plotly "
    "streamlit gradio jupyter notebook ipython huggingface-hub tiktoken tokenizers "
    "chromadb faiss-cpu tenacity loguru markdown docutils sphinx mkdocs cython numba "
    "xgboost lightgbm kubernetes docker google-auth google-api-python-client "
    "azure-identity stripe twilio slack-sdk discord.py python-telegram-bot tweepy web3 "
    "solana yfinance ccxt feedparser youtube-dl yt-dlp ffmpeg-python moviepy pydub "
    "elevenlabs litellm instructor tabulate pygments attrs marshmallow pyserial psutil "
    "pexpect pycryptodome bcrypt passlib elasticsearch pymongo fastmcp mcp keyring semver "
    "simplejson ujson orjson python-multipart pyautogui pyperclip"
)
"""Widely used packages of the Python index."""

NPM = word_set(
    "react react-dom lodash express axios chalk commander debug moment typescript webpack "
    "eslint prettier jest mocha vitest next vite rollup esbuild tailwindcss postcss "
    "autoprefixer dotenv cross-env rimraf mkdirp uuid semver yargs inquirer minimist "
    "underscore bluebird async request node-fetch undici cheerio puppeteer playwright "
    "jsdom socket.io mongoose mongodb mysql2 sequelize prisma redis ioredis jsonwebtoken "
    "bcrypt bcryptjs passport body-parser cookie-parser helmet morgan nodemon ts-node "
    "concurrently husky lint-staged electron discord.js telegraf ethers viem web3 hardhat "
    "openai langchain zod graphql apollo-server redux react-redux react-router "
    "react-router-dom styled-components framer-motion three chart.js date-fns dayjs luxon "
    "formik classnames immer zustand storybook nestjs fastify koa winston sharp multer "
    "nodemailer stripe firebase supabase vercel netlify-cli pnpm turbo marked handlebars "
    "colors glob fs-extra execa shelljs form-data qrcode pdfkit exceljs mermaid katex "
    "typeorm crypto-js clawhub"
)
"""Widely used packages of the npm registry."""

REAL = word_set(
    "clawdhub preact nuxt color request psycopg boto mysql jinja pypdf3 pypdf4 markdown2 "
    "glob2 attr uuid4 uuidv4 telegram server chartjs openapi prism typed aioredis gsutil axiom "
    "scapy python pandera torchaudio"
)
"""Names near a well-known one that are somebody else's in good faith, or ordinary words."""

INDEXES = word_set(
    "pypi.org test.pypi.org download.pytorch.org registry.npmjs.org registry.yarnpkg.com "
    "npm.pkg.github.com registry.npmmirror.com pypi.tuna.tsinghua.edu.cn mirrors.aliyun.com "
    "pypi.nvidia.com pypi.ngc.nvidia.com rubygems.org npm.jsr.io mirrors.cloud.tencent.com "
    "pypi.douban.com data.pyg.org wheels.vllm.ai storage.googleapis.com/jax-releases "
    "registry.npm.taobao.org pypi.mirrors.ustc.edu.cn files.pythonhosted.org "
    "mirrors.ustc.edu.cn abetlen.github.io alphacephei.com"
)
"""Indexes and mirrors that are widely used in good faith."""
