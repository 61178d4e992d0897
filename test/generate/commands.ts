import { type Mask, type Step, Transcripts } from './transcripts.ts'

/** Steps below a heading, with an introduction. */
interface Chapter {
  readonly heading: string
  readonly about: string
  readonly steps: readonly Step[]
}

const SECRET_WORDS: Mask = [/^(?:[a-z]+ ){23}[a-z]+$/gm, '<24 words>']
const NEW_ADDRESS: Mask = [/\bdfar1[0-9a-z]{50,}\b/g, '<address>']
const INBOUND_PEER: Mask = [/tcp\/\d+(\/\S+ +in +)\d+( +)[\d-]+/, 'tcp/<port>$1<n>$2<n>']
const HEIGHT_COLUMN: Mask = [/^\d+(?= )/gm, '<n>']

const CHAPTERS: readonly Chapter[] = [
  {
    heading: 'A node',
    about:
      'On the devnet two wallets are there from the start: `caller` buys, `market` sells and is paid for mining. The second node runs in another terminal, and `peers` asks the first.',
    steps: [
      { line: 'init' },
      {
        line: 'start --mine-threads 1',
        isNode: true,
        until: /Buy a first call/,
        keeps: { address: /Others join with: +--peer (\S+)/ },
      },
      {
        line: 'start --data-dir ~/second --rpc-port {secondRpc} --p2p-port {secondP2p} --peer {address}',
        isNode: true,
        until: /Others join with/,
      },
      { line: 'peers', until: /full/, masks: [INBOUND_PEER, [/farthing\/[\d.]+/, 'farthing/<version>']] },
      { line: 'doctor providers' },
    ],
  },
  {
    heading: 'Wallets',
    about: '`wallet send` does not wait for its block; `tx` and `block` show what became of it.',
    steps: [
      { line: 'wallet new --wallet savings', masks: [SECRET_WORDS, NEW_ADDRESS] },
      { line: 'wallet address' },
      { line: 'wallet balance' },
      {
        line: 'wallet send $(farthing wallet address --wallet savings) 12.5',
        keeps: { tx: /([0-9a-f]{64})/ },
        masks: [NEW_ADDRESS],
      },
      {
        line: 'tx {tx}',
        until: /mined/,
        keeps: { height: /height (\d+)/ },
        masks: [[/(To +)dfar1\w+/, '$1<address>']],
      },
      {
        line: 'block {height}',
        masks: [
          [/^(Height +)\d+/m, '$1<n>'],
          [/^block \d+$/, 'block <n>'],
          [/^(Reward +)[\d.]+/m, '$1<amount>'],
        ],
      },
    ],
  },
  {
    heading: 'Services',
    about:
      '`call` asks for the price, pays it, waits for the block and checks the receipt; `--json` gives all of it to a program.',
    steps: [
      { line: 'services', shown: 6 },
      { line: 'call node-swap-quote "10 FAR->WOOL" --no-pay' },
      {
        line: 'call node-swap-quote "10 FAR->WOOL"',
        masks: [[/^(height|validAtHeight)( +)\d+/gm, '$1$2<n>']],
      },
      { line: 'wallet history', until: /delivered/, masks: [HEIGHT_COLUMN, NEW_ADDRESS] },
      { line: 'agent list', masks: [[/(Farthing node +)\d+/, '$1<n>']] },
    ],
  },
  {
    heading: 'Tokens, pools, stakes',
    about: 'A transaction that would fail is not sent; `--dry-run` shows what would happen and sends nothing.',
    steps: [
      { line: 'token create TEA "Tea leaves" --decimals 2 --max-supply 1000000' },
      { line: 'token mint 5000 TEA $(farthing wallet address)' },
      { line: 'token list', masks: [[/^(FAR +Coin of devnet +native +)[\d.]+/m, '$1<amount>']] },
      { line: 'token show TEA', masks: [[/^(Since +height) \d+/m, '$1 <n>']] },
      { line: 'pool create 100 FAR 50 TEA --fee 0.3' },
      { line: 'pool list', shown: 3 },
      { line: 'pool show FAR-TEA-30' },
      { line: 'swap 2 FAR TEA' },
      { line: 'stake 1000 --tier 1' },
      { line: 'stake list', masks: [[/\d\.\d+ FAR(?= +until)/, '<amount>']] },
      {
        line: 'wallet holdings',
        masks: [
          [/to claim [\d.]+( FAR\) +)[\d.]+$/m, 'to claim <amount>$1<amount>'],
          [/^(total .* )[\d.]+$/m, '$1<amount>'],
        ],
      },
    ],
  },
  {
    heading: 'What is wrong',
    about:
      'One line on standard error says what is wrong. The exit code is 2 for a wrong command line, 1 if it could not be done; [the guide](guide.md#commands) lists the others. With `--json` the last line of standard error is `{"error": {"code", "message", "exitCode", "details"}}`, and standard output has what was printed before.',
    steps: [{ line: 'wallet balanse' }, { line: 'token burn 9999 TEA' }, { line: 'tx {tx} --rpc http://127.0.0.1:9' }],
  },
]

/** `docs/commands.md`: the output of the most common commands, run on a new devnet. */
export async function commandsDocument(): Promise<string> {
  const transcripts = await Transcripts.open()
  const parts: string[] = []
  try {
    for (const { heading, about, steps } of CHAPTERS) {
      parts.push(`## ${heading}`, about)
      for (const step of steps) parts.push(['```', await transcripts.run(step), '```'].join('\n'))
    }
  } finally {
    await transcripts.close()
  }
  return `${[INTRODUCTION, ...parts].join('\n\n')}\n`
}

const INTRODUCTION = `# The commonest commands

Made by \`npm run gen:commands\`, which runs them on a new devnet; a test runs them again and compares. What differs from run to run
is in angle brackets: \`<id>\`, \`<time>\`, \`<n>\`. \`npx --no farthing help\` lists all commands, \`--help\` after one shows its flags.`
