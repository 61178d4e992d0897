import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { beforeAll, describe, expect, it } from 'vitest'
import { buildClient } from '../../src/package/build-client.ts'
import { measureEntries } from '../../src/package/client-bundle.ts'
import { Workshop } from '../support/daemon.ts'
import { ROOT } from '../support/source-tree.ts'

const workshop = new Workshop()
const project = workshop.folder()

beforeAll(async () => {
  const folder = workshop.folder()
  await buildClient(folder)
  const packed = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', project], folder)) as unknown
  const [{ filename }] = packed as [{ filename: string }]
  writeFileSync(join(project, 'package.json'), '{"name":"buyer","private":true,"type":"module"}')
  run('npm', ['install', '--offline', '--no-audit', '--no-fund', `./${filename}`], project)
})

function run(program: string, args: readonly string[], cwd: string): string {
  return execFileSync(program, [...args], { cwd, encoding: 'utf8' })
}

/** The compiler's messages for a file of the project, with all declarations checked. */
function compiled(name: string, code: string): string {
  writeFileSync(join(project, name), code)
  const options = [
    '--noEmit',
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'esnext',
    '--lib',
    'esnext,dom',
    '--pretty',
    'false',
  ]
  const { stdout } = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), [...options, name], {
    cwd: project,
    encoding: 'utf8',
  })
  return stdout
}

const USE = `
import { createClient, FarthingError, memoryJournal } from 'farthing/client'
import { generateWallet, walletFromWords, keyfileOf, walletFromKeyfile } from 'farthing/client/wallet'
import { nativeScheme, nativeAsset } from 'farthing/client/x402'
`

describe('the packed client', () => {
  it('installs alone and works in Node', () => {
    const code = `${USE}
const { wallet, words } = generateWallet()
const client = createClient({ baseUrl: 'http://127.0.0.1:1', wallet, journal: memoryJournal() })
const error = await client.call('node-x', '').catch((error) => error)
const opened = await walletFromKeyfile(await keyfileOf(words, { passphrase: 'open' }), { passphrase: 'open' })
console.log(JSON.stringify({
  code: error.code, isOurs: error instanceof FarthingError, same: walletFromWords(words).address() === client.address,
  opened: opened.address() === client.address, scheme: nativeScheme(client).scheme, asset: nativeAsset('0.5'),
}))`
    writeFileSync(join(project, 'use.js'), code)
    expect(JSON.parse(run('node', ['use.js'], project))).toEqual({
      ...{ code: 'node_unreachable', isOurs: true, same: true, opened: true, scheme: 'native-x402' },
      asset: { network: 'farthing:1', asset: 'FAR', maxAmountPerPayment: '50000000' },
    })
    const lock = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8')) as { packages: object }
    expect(Object.keys(lock.packages)).toEqual(['', 'node_modules/farthing'])
  })

  it('has types that stand alone', () => {
    const code = `${USE}
const { wallet }: { wallet: import('farthing/client').Signer } = generateWallet()
const client = createClient({ baseUrl: 'http://127.0.0.1:1', wallet, maxPerCallUsd: 0.05 })
export const answer: Promise<{ result: { price: number } }> = client.call<{ price: number }>('node-price-feed')
export const rest = [FarthingError, memoryJournal, walletFromWords, keyfileOf, walletFromKeyfile, nativeScheme(client), nativeAsset('1')]
`
    expect(compiled('right.ts', code)).toBe('')
    const wrong = code.replace('{ result: { price: number } }', '{ result: { price: string } }')
    expect(compiled('wrong.ts', wrong)).toMatch(/^wrong\.ts.*TS2322/)
  })

  it('bundles for a browser, and imports nothing', async () => {
    writeFileSync(
      join(project, 'page.js'),
      `${USE}\nconsole.log(createClient, generateWallet, nativeScheme, nativeAsset)`,
    )
    const options = { bundle: true, format: 'esm', platform: 'browser', write: false, metafile: true } as const
    const built = await build({ ...options, absWorkingDir: project, entryPoints: ['page.js'], logLevel: 'silent' })
    const imports = Object.values(built.metafile.outputs).flatMap((output) => output.imports)
    expect(imports).toEqual([])
    expect(built.outputFiles[0]?.text).not.toMatch(/\bWebAssembly\b/)
  })

  it('needs nothing that a browser under a strict policy has not', () => {
    const bare = 'delete globalThis.Buffer; delete globalThis.WebAssembly; delete globalThis.setImmediate'
    const code = `${bare}
const { createClient } = await import('farthing/client')
const { generateWallet } = await import('farthing/client/wallet')
console.log(createClient({ baseUrl: 'http://127.0.0.1:1', wallet: generateWallet().wallet }).address.slice(0, 4))`
    writeFileSync(join(project, 'bare.js'), code)
    expect(run('node', ['bare.js'], project)).toBe('far1\n')
  })

  it('weighs at most 75 kB of gzip without the post-quantum signer', async () => {
    const sizes = await measureEntries()
    const client = sizes.find(({ entry }) => entry === 'client')
    expect(client?.gzip).toBeLessThanOrEqual(75_000)
    expect(client?.parts.map(([name]) => name)).not.toContain('@noble/post-quantum')
  })
})
