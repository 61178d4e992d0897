import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { parseAddress } from '../../consensus/crypto/address.ts'
import { seedOfWords } from '../../consensus/crypto/words.ts'
import { toHex } from '../../consensus/primitives/bytes.ts'
import { openerOf } from '../../consensus/tx/redeem-lock.ts'
import { post } from '../support/api.ts'
import { Caller, marketOpen } from '../support/caller.ts'
import { type RunningDaemon, WITH_TEST_SERVICES, Workshop } from '../support/daemon.ts'

const workshop = new Workshop()
const env = { TEST_FAST_BLOCKS: '1' }
const passphrase = `correct horse ${randomBytes(9).toString('hex')}`
const passphraseFile = workshop.path('passphrase')
const folder = workshop.folder()
const ACCESS = ['--wallet-passphrase-file', passphraseFile, '--log-level', 'trace'] as const
/** Secrets that must not appear, by name; each is unique text. */
const secrets = new Map<string, string>([['the passphrase', passphrase]])
const written: string[] = []
let daemon: RunningDaemon

beforeAll(async () => {
  writeFileSync(passphraseFile, `${passphrase}\n`)
  for (const wallet of ['market', 'caller']) {
    const args = ['wallet', 'new', '--wallet', wallet, '--data-dir', folder, ...ACCESS]
    const { code, stdout, stderr } = await workshop.run(args)
    expect(code, stderr).toBe(0)
    expect(stdout).toMatch(/^dfar1[0-9a-z]+\n$/)
    const words = stderr.trim().split('\n').at(-1)!
    const seed = seedOfWords(words)
    if (!seed.ok) throw new Error('the words are not shown')
    secrets.set(`the words of ${wallet}`, words)
    secrets.set(`three words of ${wallet}`, words.split(' ').slice(5, 8).join(' '))
    secrets.set(`the seed of ${wallet}`, toHex(seed.value))
  }
  // The new operator has no coins until its first rewards mature. Then it registers and sells.
  daemon = await workshop.start(folder, { env, flags: ACCESS })
  await marketOpen(daemon.url)
})

describe('with logs at their most talkative', () => {
  it('calls with secrets, good and bad ones, are answered', async () => {
    const caller = new Caller(daemon.url, 5)
    for (const request of ['ok', 'fail', 'slow:30']) {
      const payment = await caller.payMined({ serviceId: 'node-test-once', request, lock: 'lock' })
      secrets.set(`the secret of ${request}`, payment.secret!)
      const wrong = randomBytes(32).toString('hex')
      secrets.set(`a wrong secret of ${request}`, wrong)
      await caller.offer(payment, { secret: wrong })
      await caller.offer(payment, { secret: null })
      await post(daemon.url, `/api/x402/node-test-once?secret=${payment.secret}`, { payment: payment.secret })
      await post(daemon.url, '/api/v1/tx', { raw: payment.secret, secret: payment.secret })
      await post(daemon.url, `/api/x402/${payment.secret}`, `{"payment":{"secret":"${payment.secret}"`)
      expect([200, 502]).toContain((await caller.settle(payment)).status)
      // The opener becomes public with the receipt, but logs must not have it.
      secrets.set(`the opener of ${request}`, openerOf(Buffer.from(payment.secret!, 'hex')))
      await caller.closed(payment.txId)
    }
    const sent = await caller.send('transfer', {
      to: await ownAddress(),
      amount: 50_000_000_000n as never,
      create: true,
    })
    await caller.mined(sent.txId)
  })

  it('commands that open wallets and pay run', async () => {
    const common = ['--rpc', daemon.url, '--data-dir', folder, ...ACCESS]
    const commands = [
      ['wallet', 'send', new Caller('', 6).address, '1', ...common],
      ['wallet', 'balance', ...common],
      ['call', 'node-test-again', 'ok', '--json', ...common],
    ]
    for (const args of commands) {
      const { stdout, stderr } = await workshop.run(args, { entry: WITH_TEST_SERVICES, env })
      written.push(stdout, stderr)
    }
    for (const name of readdirSync(join(folder, 'calls'))) {
      const { secret } = JSON.parse(readFileSync(join(folder, 'calls', name), 'utf8')) as { secret: string }
      expect(secret).toMatch(/^[0-9a-f]{64}$/)
      secrets.set('the secret of a kept call', secret)
    }
    const wrong = ['wallet', 'send', new Caller('', 6).address, '1', '--rpc', daemon.url, '--data-dir', folder]
    const bad = workshop.path('bad')
    writeFileSync(bad, `${passphrase}x`)
    const { code, stderr } = await workshop.run([...wrong, '--wallet-passphrase-file', bad, '--log-level', 'trace'])
    expect(code).toBe(1)
    written.push(stderr)
  })

  it('no line of any log holds a secret, a seed, words or a passphrase', async () => {
    expect((await daemon.stop()).code).toBe(0)
    const again = await workshop.start(folder, { env, flags: ACCESS })
    expect((await again.stop()).code).toBe(0)
    written.push(daemon.program.stderr, daemon.program.stdout, again.program.stderr, again.program.stdout)
    expect(daemon.log.filter(({ msg }) => msg === 'answered').length).toBeGreaterThan(20)
    expect(secrets.size).toBeGreaterThan(15)
    const text = written.join('\n').toLowerCase()
    const seen = [...secrets].filter(([, secret]) => text.includes(secret.toLowerCase())).map(([name]) => name)
    expect(seen).toEqual([])
  })

  it('no file of the data folder but the kept calls holds a secret in the open', () => {
    const texts = filesUnder(folder).filter((path) => !path.includes('/calls/'))
    expect(texts.length).toBeGreaterThan(5)
    const kept = [...secrets].filter(([name]) => !name.startsWith('the opener') && !name.startsWith('a wrong'))
    const found = texts.flatMap((path) => {
      const bytes = readFileSync(path)
      return kept
        .filter(([, secret]) => bytes.includes(secret) || bytes.includes(hexBytes(secret)))
        .map(([name]) => name)
    })
    expect(found).toEqual([])
  })
})

/** Address of the folder's own caller. */
async function ownAddress() {
  const { stdout } = await workshop.run(['wallet', 'address', '--data-dir', folder])
  const parsed = parseAddress('dfar', stdout.trim())
  if (!parsed.ok) throw new Error(`no address: ${stdout}`)
  return parsed.value
}

function filesUnder(path: string): readonly string[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

/** Bytes of a secret in hex, or of any other text in UTF-8. */
function hexBytes(secret: string): Buffer {
  return /^[0-9a-f]{64}$/.test(secret) ? Buffer.from(secret, 'hex') : Buffer.from(secret)
}
