import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'

/** Passphrase of wallets with published development keys. It protects nothing and is no secret. */
export const DEV_PASSPHRASE = 'devnet'

/** Sources of a passphrase. */
export interface PassphraseSources {
  readonly file: string | null
  /** Whether the wallet is one of the devnet's own. */
  readonly devnet: boolean
}

/** The passphrase from a file, the known one of the devnet, or a prompt on a terminal. */
export async function passphrase(
  { file, devnet }: PassphraseSources,
  prompt = 'Passphrase: ',
): Promise<Result<string>> {
  if (file !== null) {
    try {
      return ok((await readFile(file, 'utf8')).replace(/\r?\n$/, ''))
    } catch {
      return fail(fault('config/file', { path: file, reason: 'it cannot be read' }))
    }
  }
  if (devnet) return ok(DEV_PASSPHRASE)
  return process.stdin.isTTY ? ok(await promptHidden(prompt)) : fail(fault('wallet/passphrase-needed'))
}

/** Prompts on the terminal without echo. */
export async function promptHidden(prompt: string): Promise<string> {
  process.stderr.write(prompt)
  const muted = new Writable({ write: (_chunk, _encoding, done) => done() })
  const terminal = createInterface({ input: process.stdin, output: muted, terminal: true })
  try {
    return await terminal.question('')
  } finally {
    terminal.close()
    process.stderr.write('\n')
  }
}
