import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SETTINGS } from '../../config/settings.ts'
import { WITH_TEST_SERVICES, Workshop } from '../support/daemon.ts'
import type { Finished } from '../support/processes.ts'

const workshop = new Workshop()

/** Writes a file into a new folder and gives its path. */
function file(name: string, content: string): string {
  const path = workshop.path(name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
  return path
}

/** Lines of standard error for people: all that are not JSON log lines. */
const lines = ({ stderr }: Finished): readonly string[] =>
  stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'))

/** Expects exactly one line for people, no stack trace, and the exit code. */
function expectOneLine(finished: Finished, words: RegExp, code: number): void {
  expect(lines(finished)).toEqual([expect.stringMatching(words)])
  expect(lines(finished)[0]).toMatch(/^farthing: /)
  expect(finished.stdout).toBe('')
  expect(finished.code).toBe(code)
}

const START = ['start', '--rpc-port', '0', '--data-dir'] as const

describe.concurrent('a node that cannot start says why in one line and ends:', () => {
  it('the port is taken', async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const folder = workshop.folder()
    const flags = ['start', '--data-dir', folder, '--rpc-port', String(port), '--mine-threads', '1']
    expectOneLine(await workshop.run(flags), new RegExp(`port ${port} on 127\\.0\\.0\\.1 is taken`), 1)
    server.close()
    // The refused start has released the folder's lock.
    const daemon = await workshop.start(folder, { mine: 0 })
    expect((await daemon.stop()).code).toBe(0)
  })

  it('the port of the API or that for peers is taken, and it talks to others', async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const env = { FARTHING_P2P_ENABLED: 'true', FARTHING_P2P_MDNS: 'false', FARTHING_P2P_DHT: 'false' }
    for (const [api, peers, flag] of [
      [port, 0, '--rpc-port'],
      [0, port, '--p2p-port'],
    ] as const) {
      const ports = ['--rpc-port', String(api), '--p2p-port', String(peers)]
      const finished = await workshop.run(['start', '--data-dir', workshop.folder(), ...ports], { env })
      expectOneLine(finished, new RegExp(`port ${port} .*is taken; .*${flag}`), 1)
      expect(finished.stderr).not.toContain('"level":40')
    }
    server.close()
  })

  it('the address is not one of this machine', async () => {
    const flags = [...START, workshop.folder(), '--rpc-host', '192.0.2.1']
    expectOneLine(await workshop.run(flags), /cannot listen on 192\.0\.2\.1:0: /, 1)
  })

  it('another process uses the folder', async () => {
    const folder = workshop.folder()
    const daemon = await workshop.start(folder, { mine: 0 })
    const inUse = /data folder .* is in use by another process/
    expectOneLine(await workshop.run([...START, folder]), inUse, 1)
    for (const command of [['audit'], ['export', workshop.path('x')], ['import', file('y', 'y')], ['init']]) {
      expectOneLine(await workshop.run([...command, '--data-dir', folder]), inUse, 1)
    }
    expect((await daemon.stop()).code).toBe(0)
  })

  it('the folder belongs to another network, or to another devnet', async () => {
    const folder = workshop.folder()
    expect((await workshop.run(['init', '--data-dir', folder])).code).toBe(0)
    const other = ['--network', 'testnet', '--market-enabled', 'false']
    const refused = await workshop.run([...START, folder, ...other])
    expectOneLine(refused, /belongs to devnet \(genesis [0-9a-f]{12}\), not to testnet/, 1)
    const fast = { entry: WITH_TEST_SERVICES, env: { TEST_FAST_BLOCKS: '1' } }
    expectOneLine(await workshop.run([...START, folder], fast), /belongs to devnet \(genesis [0-9a-f]{12}\), not to/, 1)
    const again = await workshop.start(folder, { mine: 0 })
    expect((await again.stop()).code).toBe(0)
  })

  it('the folder belongs to another network, which is said before its wallet is asked for', async () => {
    const folder = workshop.folder()
    expect((await workshop.run(['init', '--data-dir', folder])).code).toBe(0)
    const refused = await workshop.run([...START, folder, '--network', 'testnet'])
    expectOneLine(refused, /belongs to devnet \(genesis [0-9a-f]{12}\), not to testnet/, 1)
  })

  it('the folder holds no chain, for commands that need one', async () => {
    const folder = workshop.folder()
    expectOneLine(await workshop.run(['audit', '--data-dir', folder]), /holds no chain; make one with/, 1)
  })

  it('the file of blocks is damaged, cut off or of another network', async () => {
    const folder = workshop.folder()
    for (const content of ['', 'nonsense', `farthing blocks 1\n${'\0'.repeat(32)}`]) {
      const refused = await workshop.run(['import', file('blocks', content), '--data-dir', folder])
      expectOneLine(refused, /cannot be read: it (ends in the middle|is not a file of blocks|is of another network)/, 2)
    }
    expectOneLine(await workshop.run(['import', '/nowhere', '--data-dir', folder]), /cannot be read/, 2)
  })

  it('the passphrase is wrong, missing, or its file is', async () => {
    const folder = workshop.folder()
    const network = ['--network', 'testnet', '--data-dir', folder] as const
    const good = file('good', 'correct horse battery staple\n')
    const made = await workshop.run([
      'wallet',
      'new',
      '--wallet',
      'market',
      ...network,
      '--wallet-passphrase-file',
      good,
    ])
    expect(made.code, made.stderr).toBe(0)
    const start = ['start', '--rpc-port', '0', ...network] as const
    const bad = file('bad', 'correct horse battery stable\n')
    const wrong = await workshop.run([...start, '--wallet-passphrase-file', bad])
    expectOneLine(wrong, /the passphrase does not open the wallet .*market\.json/, 1)
    expect(wrong.stderr).not.toMatch(/horse|stable/)
    expectOneLine(await workshop.run([...start]), /the wallet needs a passphrase/, 1)
    const nowhere = await workshop.run([...start, '--wallet-passphrase-file', join(folder, 'nowhere')])
    expectOneLine(nowhere, /nowhere cannot be used: it cannot be read/, 2)
    const flags = ['--network', 'testnet', '--wallet-passphrase-file', good]
    const daemon = await workshop.start(folder, { mine: 0, flags })
    expect(daemon.program.stderr).toContain('testnet node, API at')
    expect((await daemon.stop()).code).toBe(0)
  })

  it('there is no account to mine for', async () => {
    const flags = [...START, workshop.folder(), '--network', 'testnet', '--mine-threads', '1']
    expectOneLine(await workshop.run(flags), /mine\.address is "unset"; allowed: an address to mine for/, 2)
  })
})

describe.concurrent('a wrong setting is refused in one line with exit code 2:', () => {
  const SUGGESTIONS: readonly (readonly [string, readonly string[], Record<string, string>, RegExp])[] = [
    [
      'an unknown flag',
      ['start', '--rpc-prot', '1'],
      {},
      /does not know --rpc-prot in the flags; did you mean --rpc-port\?/,
    ],
    [
      'an unknown flag of a command',
      ['call', 'x', '--max-pric', '1'],
      {},
      /does not know --max-pric in the flags; did you mean --max-price\?/,
    ],
    [
      'an unknown variable',
      ['start'],
      { FARTHING_RPC_PROT: '1' },
      /does not know FARTHING_RPC_PROT in the environment; did you mean FARTHING_RPC_PORT\?/,
    ],
    [
      'a port too high',
      ['start', '--rpc-port', '65536'],
      {},
      /--rpc-port is "65536"; allowed: a whole number from 0 to 65535/,
    ],
    [
      'a port that is a word',
      ['start'],
      { FARTHING_RPC_PORT: 'http' },
      /FARTHING_RPC_PORT is "http"; allowed: a whole number/,
    ],
    [
      'an unknown network',
      ['start', '--network', 'mainet'],
      {},
      /--network is "mainet"; allowed: mainnet, testnet, devnet/,
    ],
    [
      'a switch that is neither',
      ['start', '--market-enabled', 'yes'],
      {},
      /--market-enabled is "yes"; allowed: true, false/,
    ],
    ['prices of nothing', ['start', '--market-prices', 'node-a=0'], {}, /--market-prices is "node-a=0"; allowed: /],
    ['an empty value', ['start', '--rpc-host='], {}, /--rpc-host is ""; allowed: /],
    ['a flag given twice', ['start', '--dev-key', '1', '--dev-key', '2'], {}, /--dev-key is given twice/],
    ['a flag without its value', ['start', '--dev-key'], {}, /--dev-key needs a value/],
    [
      'an unknown command',
      ['strat'],
      {},
      /there is no command "strat"; did you mean start, swap, stake\? npx --no farthing help shows all/,
    ],
    [
      'an unknown command of a group',
      ['wallet', 'nwe'],
      {},
      /there is no command "wallet nwe"; did you mean wallet new, .* npx --no farthing help shows all$/,
    ],
    ['a file that is not there', ['start', '--config', '/nowhere.json'], {}, /the file \/nowhere\.json cannot be used/],
  ]
  const FILES: readonly (readonly [string, string, RegExp])[] = [
    ['a file that is no JSON', '{"rpc":', /cannot be used: it is not JSON/],
    ['an unknown key', '{"rpc":{"prot":1}}', /rpc\.prot in the .*file.* did you mean rpc\.port\?/],
    ['an unknown group', '{"rcp":{"port":1}}', /rcp.* did you mean rpc/],
    ['a value out of range', '{"rpc":{"port":-1}}', /rpc\.port in .* is "-1"; allowed: a whole number/],
    ['a value of another type', '{"rpc":{"port":true}}', /rpc\.port in .* is "true"; allowed: a whole number/],
    ['a list for an object', '[1]', /./],
  ]

  it.each(SUGGESTIONS)('%s', async (_, args, env, words) => {
    const [command, ...rest] = args
    const folder = command === 'start' ? ['--data-dir', workshop.folder()] : []
    expectOneLine(await workshop.run([command!, ...folder, ...rest], { env }), words, 2)
  })

  it.each(FILES)('%s in the file of the data folder', async (_, content, words) => {
    const folder = workshop.folder()
    writeFileSync(join(folder, 'farthing.json'), content)
    expectOneLine(await workshop.run(['start', '--data-dir', folder]), words, 2)
  })
})

describe.concurrent('configuration', () => {
  type Printed = Readonly<Record<string, { readonly value: string | null; readonly origin: string }>>

  async function print(folder: string, flags: readonly string[], env: Record<string, string>): Promise<Printed> {
    const args = ['config', 'print', '--json', '--data-dir', folder, ...flags]
    const { code, stdout, stderr } = await workshop.run(args, { env })
    expect(code, stderr).toBe(0)
    return JSON.parse(stdout) as Printed
  }

  it('takes flags over the environment over the file over the defaults, and says which', async () => {
    const folder = workshop.folder()
    const json = { rpc: { port: 1001, host: '127.0.0.2', 'rate-read': 77 }, market: { 'agent-name': 'From the file' } }
    writeFileSync(join(folder, 'farthing.json'), JSON.stringify(json))
    const env = { FARTHING_RPC_PORT: '1002', FARTHING_RPC_HOST: '127.0.0.3' }
    expect(await print(folder, ['--rpc-port', '1003'], env)).toMatchObject({
      'rpc.port': { value: '1003', origin: 'flag' },
      'rpc.host': { value: '127.0.0.3', origin: 'environment' },
      'rpc.rate-read': { value: '77', origin: 'file' },
      'market.agent-name': { value: 'From the file', origin: 'file' },
      'rpc.rate-quote': { value: SETTINGS['rpc.rate-quote'].default, origin: 'default' },
      'data-dir': { value: folder, origin: 'flag' },
    })
    const without = await print(folder, [], {})
    expect(without['rpc.port']).toEqual({ value: '1001', origin: 'file' })
  })

  it('of a file that is named comes from there, by flag or by variable', async () => {
    const folder = workshop.folder()
    writeFileSync(join(folder, 'farthing.json'), '{"rpc":{"port":1001}}')
    const named = file('other.json', '{"rpc":{"port":1004},"market":{"prices":{"node-gas-tracker":0.5}}}')
    const expected = { 'rpc.port': { value: '1004', origin: 'file' }, 'market.prices': { origin: 'file' } }
    expect(await print(folder, ['--config', named], {})).toMatchObject(expected)
    expect(await print(folder, [], { FARTHING_CONFIG: named })).toMatchObject(expected)
  })

  it('is printed with every setting and its origin, for people too', async () => {
    const folder = workshop.folder()
    const printed = await print(folder, [], {})
    expect(Object.keys(printed)).toEqual(Object.keys(SETTINGS))
    for (const { origin } of Object.values(printed)) expect(['default', 'flag']).toContain(origin)
    const { code, stdout } = await workshop.run(['config', 'print', '--data-dir', folder])
    expect(code).toBe(0)
    const rows = stdout.trim().split('\n')
    expect(rows).toHaveLength(Object.keys(SETTINGS).length)
    expect(rows.find((row) => row.startsWith('rpc.port '))).toMatch(/8420 +default +--rpc-port$/)
  })

  it('shows help and version on standard output', async () => {
    for (const args of [[], ['help'], ['--help'], ['start', '--help'], ['--version']]) {
      const { code, stdout, stderr } = await workshop.run(args)
      expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' })
      expect(stdout.length).toBeGreaterThan(3)
    }
  })

  it('shows the same help on a command either way, and none on what there is not', async () => {
    const [asked, flagged] = await Promise.all([workshop.run(['help', 'call']), workshop.run(['call', '--help'])])
    expect(asked).toEqual(flagged)
    expect(asked.stdout).toContain('--max-price ')
    expectOneLine(await workshop.run(['help', 'agnt']), /no command "agnt"; did you mean agent list, /, 2)
  })

  it('helps with what matters to a command, and names the commands beside it', async () => {
    const [start, password, keys] = await Promise.all(
      [['start'], ['keys', 'password'], ['keys']].map(
        async (words) => (await workshop.run([...words, '--help'])).stdout,
      ),
    )
    expect(start).toContain('--rpc-rate-read ')
    expect(password).toContain('--data-dir ')
    expect(password).not.toContain('--rpc-rate-read ')
    expect(keys).toContain('See also: keys create, keys change, keys revoke, keys password\n')
  })
})

describe.concurrent('what was not asked for is not done:', () => {
  it('a word too many is refused by every command', async () => {
    const folder = workshop.folder()
    for (const args of [
      ['start', 'extra'],
      ['init', 'extra'],
      ['wallet', 'new', 'extra'],
      ['wallet', 'import', 'extra'],
      ['call', 'node-a', 'text', 'extra'],
      ['config', 'print', 'extra'],
    ]) {
      expectOneLine(
        await workshop.run([...args, '--data-dir', folder]),
        /"extra" is one word too many; usage: farthing /,
        2,
      )
    }
    expect(readdirSync(folder)).toEqual([])
  })

  it('a wallet outside its folder is none', async () => {
    const folder = workshop.folder()
    const tried = ['../evil', '../farthing', 'a b', '.hidden', '', 'x'.repeat(65)].map((name) => ['new', name])
    for (const [command, name] of [...tried, ['address', '../evil'], ['balance', '../evil']]) {
      const args = ['wallet', command as string, `--wallet=${name}`, '--data-dir', folder]
      expectOneLine(await workshop.run(args), /is no name of a wallet/, 2)
    }
    expect(readdirSync(folder)).toEqual([])
  })

  it('a wallet that is not there is made where it was looked for, by the command that is advised', async () => {
    const folder = join(workshop.folder(), 'my shop')
    const flags = ['--network', 'testnet', '--data-dir', folder]
    const advised = `npx --no farthing wallet new --wallet mine --network testnet --data-dir '${folder}' (npx --no farthing init`
    const missing = await workshop.run(['wallet', 'address', '--wallet', 'mine', ...flags])
    expect(missing.stderr).toContain(`make one with: ${advised}`)
    const plain = await workshop.run(['wallet', 'address', '--wallet', 'mine'], { env: { HOME: workshop.folder() } })
    expect(plain.stderr).toContain(
      'make one with: npx --no farthing wallet new --wallet mine (npx --no farthing init brings',
    )
    const shop = await workshop.start(folder, { mine: 0, flags: ['--network', 'testnet'] })
    expect((await shop.stop()).code).toBe(0)
    expect(shop.program.stderr).toContain(`wallet new --wallet market --network testnet --data-dir '${folder}'"`)
  })

  it('a call that is taken up names no service', async () => {
    const args = ['call', 'node-gas-tracker', '--tx', 'ab'.repeat(32)]
    const daemon = await workshop.start(workshop.folder(), { mine: 0 })
    const refused = await workshop.run([...args, '--rpc', daemon.url, '--data-dir', workshop.folder()])
    expectOneLine(refused, /taken up by --tx has its service and request already/, 2)
    await daemon.stop()
  })
})

it('a passphrase file does not lock the devnet out of wallets that were made without one', async () => {
  const folder = workshop.folder()
  expect((await workshop.run(['init', '--data-dir', folder])).code).toBe(0)
  const flags = ['--wallet-passphrase-file', file('passphrase', 'another one\n')]
  const daemon = await workshop.start(folder, { mine: 0, flags })
  expect((await daemon.stop()).code).toBe(0)
})

it('a devnet that mines nothing says so, and what it keeps is its user’s alone', async () => {
  const folder = join(workshop.folder(), 'data')
  const idle = await workshop.start(folder, { mine: 0 })
  expect((await idle.stop()).code).toBe(0)
  expect(idle.program.stderr).toContain('start it with --mine-threads 1')
  expect(idle.program.stderr).not.toContain('Buy a first call')
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  const other = join(workshop.folder(), 'data')
  expect((await workshop.run(['init', '--data-dir', other])).code).toBe(0)
  expect(statSync(other).mode & 0o777).toBe(0o700)
})
