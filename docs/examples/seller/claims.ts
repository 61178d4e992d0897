import { type FileHandle, open, readFile } from 'node:fs/promises'

/** How a call ended. */
export interface Ending {
  readonly outcome: 'delivered' | 'failed'
  /** JSON text, exactly as it is hashed and answered; a message for people if the call failed. */
  readonly result: string
  readonly resultHash: string
  readonly durationMs: number
}

/** A payment that is taken for one request, for ever. */
export interface Claim {
  readonly txId: string
  readonly request: string
  readonly requestHash: string
  readonly secret: string | null
  /** Base units. */
  readonly amount: string
  readonly ending?: Ending
  /** How its escrow ended on chain. */
  readonly closed?: string
}

/**
 * The seller's claims, in a file that only grows. Each line is on the disk before the seller acts on it. Only one process may use
 * the file; several need a database with a unique key on `txId`.
 */
export class Claims {
  readonly #file: FileHandle
  readonly #claims: Map<string, Claim>
  /** Claims that are being written to the disk: no work may begin on them yet. */
  readonly #taking = new Map<string, Promise<Claim>>()
  #writing: Promise<unknown> = Promise.resolve()

  private constructor(file: FileHandle, claims: Map<string, Claim>) {
    this.#file = file
    this.#claims = claims
  }

  /** Reads the file. A last line that a crash cut off is deleted: the seller had not acted on it yet. */
  static async open(path: string): Promise<Claims> {
    const claims = new Map<string, Claim>()
    const file = await open(path, 'a', 0o600)
    const text = await readFile(path, 'utf8')
    const whole = text.slice(0, text.lastIndexOf('\n') + 1)
    await file.truncate(Buffer.byteLength(whole))
    for (const line of whole.split('\n').filter(Boolean)) {
      const part = JSON.parse(line) as Claim
      claims.set(part.txId, { ...claims.get(part.txId), ...part })
    }
    return new Claims(file, claims)
  }

  get(txId: string): Claim | undefined {
    return this.#claims.get(txId)
  }

  /** Calls whose work or settlement is still to be done. */
  open(): readonly Claim[] {
    return [...this.#claims.values()].filter(({ closed }) => closed === undefined)
  }

  /** Takes a payment unless it is taken, and returns its claim. The claim is on the disk when this resolves, for every caller. */
  async take(claim: Claim): Promise<Claim> {
    const { txId } = claim
    const first = this.#taking.get(txId)
    if (first !== undefined) return first
    const known = this.#claims.get(txId)
    if (known !== undefined) return known
    const taken = this.#append(claim).then(() => {
      this.#claims.set(txId, claim)
      this.#taking.delete(txId)
      return claim
    })
    this.#taking.set(txId, taken)
    return taken
  }

  /** Adds the end of a claim. It is on the disk when this resolves. */
  async add(txId: string, change: Partial<Claim>): Promise<Claim> {
    await this.#append({ txId, ...change })
    const next = { ...(this.#claims.get(txId) as Claim), ...change }
    this.#claims.set(txId, next)
    return next
  }

  /** Writes one line after another. A failure ends the process, because it could not keep its claims any more. */
  #append(line: object): Promise<void> {
    const written = this.#writing.then(async () => {
      await this.#file.write(`${JSON.stringify(line)}\n`)
      await this.#file.sync()
    })
    this.#writing = written.catch(() => process.exit(1))
    return written
  }
}
