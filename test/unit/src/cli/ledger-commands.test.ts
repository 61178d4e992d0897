import { describe, expect, it } from 'vitest'
import { DEV_ADDRESSES } from '../../../../config/networks/dev-keys.ts'
import { DEVNET } from '../../../../config/networks/devnet.ts'
import { formatAddress } from '../../../../consensus/crypto/address.ts'
import { faultMessage } from '../../../../consensus/primitives/fault.ts'
import type { Address } from '../../../../consensus/primitives/ids.ts'
import { parseCommandLine } from '../../../../src/cli/args.ts'
import type { CommandContext } from '../../../../src/cli/command.ts'
import { LEDGER_COMMANDS } from '../../../../src/cli/ledger-commands.ts'

const TO = formatAddress(DEVNET.addressPrefix, DEV_ADDRESSES[0] as Address)
const ID = 'ab'.repeat(32)

/** The error of a command line that is refused before any node is asked. The context has no node. */
async function refusal(...args: readonly string[]): Promise<string> {
  const line = parseCommandLine(args)
  if (!line.ok) return faultMessage(line.fault)
  const { words, flags } = line.value
  const named = (name: string) => LEDGER_COMMANDS.find((command) => command.name === name)
  const command = named(words.slice(0, 2).join(' ')) ?? named(words[0] as string)
  if (command === undefined) throw new Error(`no command ${words.join(' ')}`)
  const context = {
    params: DEVNET,
    words: words.slice(command.name.split(' ').length),
    flags,
  } as unknown as CommandContext
  const outcome = await command.run(context)
  return typeof outcome === 'number' ? `exit ${outcome}` : faultMessage(outcome)
}

describe('a command of the ledgers refuses, without asking a node,', () => {
  const REFUSALS: readonly (readonly [string, readonly string[], RegExp])[] = [
    ['a token without a name', ['token', 'create', 'TEA'], /^usage: farthing token create <symbol> <name>$/],
    ['a symbol in small letters', ['token', 'create', 'tea', 'Tea'], /^"tea" is no symbol: 2 to 10 capital letters/],
    ['a name too long', ['token', 'create', 'TEA', 'é'.repeat(33)], /^the name has 66 bytes, allowed are 64$/],
    [
      '19 decimals',
      ['token', 'create', 'TEA', 'Tea', '--decimals', '19'],
      /^--decimals is a whole number from 0 to 18$/,
    ],
    [
      'decimals that are a text',
      ['token', 'create', 'TEA', 'Tea', '--decimals', '1e1'],
      /^--decimals is a whole number/,
    ],
    [
      'a supply finer than the token',
      ['token', 'create', 'TEA', 'Tea', '--decimals', '2', '--max-supply', '0.001'],
      /^"0.001" has more than 2 decimals$/,
    ],
    ['a receiver that is none', ['token', 'mint', '1', 'SALT', 'dfar1nobody'], /^"dfar1nobody" is not an address: /],
    [
      'a mint without a receiver',
      ['token', 'mint', '1', 'SALT'],
      /^usage: farthing token mint <amount> <symbol> <address>$/,
    ],
    ['flags that change nothing', ['token', 'flags', 'SALT'], /^give --frozen or --hidden, or both$/],
    ['a flag that is neither', ['token', 'flags', 'SALT', '--frozen', 'yes'], /^--frozen is true or false$/],
    ['a hand-over without a receiver', ['token', 'issuer', 'SALT'], /or --renounce in place of the address$/],
    ['a hand-over to both', ['token', 'issuer', 'SALT', TO, '--renounce'], /or --renounce in place of the address$/],
    ['a whole slippage', ['stable', 'redeem', '1', 'FUSD', '--slippage', '100'], /^--slippage is below 100: /],
    [
      'basis points as a slippage',
      ['swap', '1', 'FAR', 'SALT', '--slippage', '50'],
      /^--slippage is in percent: 50 lets .* --accept-slippage$/,
    ],
    [
      'the like of a pool',
      ['pool', 'remove', 'FAR-SALT-30', '--percent', '5', '--slippage', '15.1%'],
      /^--slippage is in percent: 15.1 lets/,
    ],
    ['a pool of one asset', ['pool', 'create', '1', 'FAR', '2'], /^usage: farthing pool create /],
    [
      'a fee in two units',
      ['pool', 'create', '1', 'FAR', '2', 'SALT', '--fee', '0.3', '--fee-bps', '30'],
      /^--fee and --fee-bps say the same: give one of them$/,
    ],
    [
      'a fee in words',
      ['pool', 'create', '1', 'FAR', '2', 'SALT', '--fee', 'low'],
      /^--fee is a percentage of 0 to 100/,
    ],
    ['an amount without its symbol', ['pool', 'add', 'FAR-SALT-30', '1', 'FAR', '2'], /^usage: farthing pool add /],
    ['no part of the shares', ['pool', 'remove', 'FAR-SALT-30'], /^give one of --shares <n>, --percent <p> and --all$/],
    ['two parts of the shares', ['pool', 'remove', 'X-Y-30', '--all', '--shares', '1'], /^give one of --shares/],
    ['half a share', ['pool', 'remove', 'FAR-SALT-30', '--shares', '0.5'], /^--shares is a whole number of shares$/],
    ['101 percent', ['pool', 'remove', 'FAR-SALT-30', '--percent', '101'], /^--percent is a percentage of 0 to 100/],
    ['a pool by half its name', ['pool', 'show', 'FAR-SALT'], /^"FAR-SALT" is no pool: name it as FAR-FUSD-30/],
    ['a swap into nothing', ['swap', '1', 'FAR'], /^usage: farthing swap <amount> <from> <to>$/],
    ['a route of four pools', ['swap', '1', 'FAR', 'SALT', '--route', 'a,b,c,d'], /^a route has at most 3 pools$/],
    [
      'an exact output over two pools',
      ['swap', '1', 'FAR', 'SALT', '--exact-out', '--route', 'a,b'],
      /^an exact output goes through one pool$/,
    ],
    ['a stake in no tier', ['stake', '5'], /^usage: farthing stake <amount> --tier <number>$/],
    ['a stake by a word', ['stake', 'unstake', 'mine'], /^"mine" is no id of a stake: 64 hex digits$/],
    [
      'a claim of everything and of one',
      ['stake', 'claim', ID, '--all'],
      /^usage: farthing stake claim <id>, or --all$/,
    ],
    ['a claim of nothing', ['stake', 'claim'], /^usage: farthing stake claim <id>, or --all$/],
    ['a withdrawal without a recipient', ['bridge', 'withdraw', '5', 'base'], /^usage: farthing bridge withdraw /],
    ['a withdrawal by a word', ['bridge', 'withdrawal', 'x'], /^"x" is no id of a withdrawal: 64 hex digits$/],
    ['an agent with capitals', ['agent', 'register', 'Me'], /^"Me" is no id of an agent: /],
    ['an endpoint that is no address', ['agent', 'register', 'abc', '--endpoint', 'ftp://x'], /^--endpoint is an http/],
    [
      'a capability that is none',
      ['agent', 'register', 'abc', '--capabilities', 'magic'],
      /^"magic" is no capability; /,
    ],
    [
      'nine settlers',
      ['agent', 'register', 'abc', '--settlers', Array(9).fill(TO).join(',')],
      /^--settlers names at most 8$/,
    ],
    ['a price too fine', ['agent', 'publish', 'abc', 'abcd', '--price', '0.0000001'], /has more than 6 decimals$/],
    ['a service without an id', ['agent', 'publish', 'abc'], /^usage: farthing agent publish <agent> <service>$/],
    [
      'a fee that is no amount',
      ['stake', '1', '--tier', '0', '--max-fee', 'much'],
      /^"much" is not a plain decimal number$/,
    ],
  ]

  it.each(REFUSALS)('%s', async (_, args, words) => {
    expect(await refusal(...args)).toMatch(words)
  })
})

describe('every command of the ledgers', () => {
  it('says what it is, shows an example of itself, and takes what the example gives it', () => {
    for (const { name, about, example = '', flags, wordsMax } of LEDGER_COMMANDS) {
      if (name.startsWith('attestor')) continue
      expect(about.length, name).toBeGreaterThan(10)
      const shell = example.replace(/\$\([^)]*\)|<[^>]*>/g, 'x').match(/"[^"]*"|\S+/g) ?? []
      const line = parseCommandLine(shell)
      const { words, flags: given } = line.ok ? line.value : { words: [], flags: {} }
      expect(words.join(' '), name).toMatch(new RegExp(`^${name}( |$)`))
      expect(words.length - name.split(' ').length, name).toBeLessThanOrEqual(wordsMax)
      expect(Object.keys(given).filter((flag) => !Object.hasOwn(flags, flag) && flag !== 'dev-key')).toEqual([])
    }
  })

  it('has a name of its own', () => {
    const names = LEDGER_COMMANDS.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    expect(names.length).toBeGreaterThan(30)
  })
})
