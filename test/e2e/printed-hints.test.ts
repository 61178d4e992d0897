import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DEV_ADDRESSES } from '../../config/networks/dev-keys.ts'
import { DEVNET } from '../../config/networks/devnet.ts'
import { formatAddress } from '../../consensus/crypto/address.ts'
import type { Address } from '../../consensus/primitives/ids.ts'
import { marketOpen } from '../support/caller.ts'
import { SHIPPED, Workshop } from '../support/daemon.ts'
import { type Finished, until } from '../support/processes.ts'
import { ROOT } from '../support/source-tree.ts'

const README = readFileSync(join(ROOT, 'README.md'), 'utf8')

/** Hints are run as they are printed: by a shell and with an empty home. */
const workshop = new Workshop()
const env = { HOME: workshop.folder() }
/** A folder name that a shell splits unless it is quoted. */
const awkwardFolder = (): string => join(workshop.folder(), "it's my shop")

const farthing = (...args: readonly string[]): Promise<Finished> => workshop.run(args, { entry: SHIPPED, env })

/** Words of a printed command line as a shell reads them, without the program's name. */
async function wordsOf(line: string): Promise<readonly string[]> {
  const script = `set -- ${line}; printf '%s\\n' "$@"`
  const { stdout } = await workshop.run([script], { node: 'sh', entry: '-c' })
  const words = stdout.trimEnd().split('\n')
  expect(words.slice(0, 3)).toEqual(['npx', '--no', 'farthing'])
  return words.slice(3)
}

/** The command line between two texts of the output. */
async function hintIn(text: string, before: string, after: string): Promise<readonly string[]> {
  const from = text.indexOf(before)
  expect(from, text).toBeGreaterThanOrEqual(0)
  const rest = text.slice(from + before.length)
  return wordsOf(rest.slice(0, rest.indexOf(after)))
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { readonly port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

const addressOf = (key: number): string => formatAddress(DEVNET.addressPrefix, DEV_ADDRESSES[key - 1] as Address)

describe.concurrent('what is advised works as it is printed:', () => {
  it('a wallet that is missing, on another network and with a passphrase in a file', async () => {
    const [folder, secret] = [awkwardFolder(), workshop.path('pass word')]
    writeFileSync(secret, 'correct horse battery staple\n', { mode: 0o600 })
    const place = ['--network', 'testnet', '--data-dir', folder, '--wallet-passphrase-file', secret]
    const asked = ['wallet', 'address', '--wallet', 'mine', ...place]
    const missing = await farthing(...asked)
    const made = await farthing(...(await hintIn(missing.stderr, 'make one with: ', ' (')))
    expect(made.code, made.stderr).toBe(0)
    expect(await farthing(...asked)).toMatchObject({ code: 0, stdout: made.stdout })
  })

  it('the funded wallets of the devnet, by another key', async () => {
    const asked = ['wallet', 'address', '--data-dir', awkwardFolder(), '--dev-key', '7']
    const missing = await farthing(...asked)
    const made = await farthing(...(await hintIn(missing.stderr, ' (', ' brings')))
    expect(made.code, made.stderr).toBe(0)
    expect((await farthing(...asked)).stdout).toBe(`${addressOf(7)}\n`)
  })

  it('a chain that is missing, where a file says which folder', async () => {
    const [folder, config, blocks] = [awkwardFolder(), workshop.path('my farthing.json'), workshop.path('blocks')]
    writeFileSync(config, JSON.stringify({ 'data-dir': folder }))
    const asked = ['export', blocks, '--config', config]
    const missing = await farthing(...asked)
    const made = await farthing(...(await hintIn(missing.stderr, 'make one with: ', '\n')))
    expect(made.code, made.stderr).toBe(0)
    expect((await farthing(...asked)).code).toBe(0)
  })

  it('a node that does not run, at an address or a port of its own', async () => {
    const [folder, port] = [awkwardFolder(), await freePort()]
    for (const where of [
      ['--rpc', `http://127.0.0.1:${port}`],
      ['--rpc-port', String(port)],
    ]) {
      const asked = ['block', 'latest', ...where, '--data-dir', folder]
      const silent = await farthing(...asked)
      const words = await hintIn(silent.stderr, 'start one with: ', '\n')
      const node = workshop.launch([...words, '--p2p-enabled', 'false'], { entry: SHIPPED, env })
      await until('the node is ready', () => node.stderr.includes(`API at http://127.0.0.1:${port}\n`))
      expect((await farthing(...asked)).code).toBe(0)
      await node.end('SIGTERM')
    }
    const elsewhere = await farthing('block', 'latest', '--rpc', 'http://192.0.2.1.invalid:8420')
    expect(elsewhere.stderr).toBe('farthing: no node answers at http://192.0.2.1.invalid:8420\n')
  })

  it('the first call that a node greets with, and how it is taken up again', async () => {
    const folder = awkwardFolder()
    const daemon = await workshop.start(folder, { entry: SHIPPED, env, flags: ['--dev-key', '5'] })
    await marketOpen(daemon.url)
    const hint = await hintIn(daemon.program.stderr, 'Buy a first call:  ', '\n')
    expect(README).toContain(`npx --no farthing ${hint.slice(0, 2).join(' ')}\n`)
    const bought = await farthing(...hint)
    expect(bought.code, bought.stderr).toBe(0)
    const again = await farthing(...(await hintIn(bought.stderr, 'if interrupted: ', ')\n')))
    expect(again).toMatchObject({ code: 0, stdout: bought.stdout })
    const history = await farthing('wallet', 'history', addressOf(5), '--rpc', daemon.url)
    expect(history.stdout).toContain('call of ')
    expect((await daemon.stop()).code).toBe(0)
  })

  it('the list of commands', async () => {
    const { stderr } = await farthing('walet')
    expect((await farthing(...(await hintIn(stderr, '? ', ' shows all')))).stdout).toContain('wallet new')
    expect(readdirSync(env.HOME)).toEqual([])
  })
})
