import type { NameQuestions } from '../../src/adapters/name-system.ts'
import type { Internet } from '../../src/adapters/open-web.ts'

/** An internet as plain data, so that it can be handed to a daemon in another process. */
export interface InternetPlan {
  /** Addresses by name; a name that is not there does not exist. */
  readonly names: Readonly<Record<string, readonly string[]>>
  /** Mail exchangers by domain; an empty list is a domain that takes no mail. */
  readonly mail?: Readonly<Record<string, readonly { readonly exchange: string; readonly priority: number }[]>>
  /** Where connections lead: `93.184.216.1:80` to a port of this machine. Others find nobody. */
  readonly ports: Readonly<Record<string, number>>
  /** Certificate that is trusted. */
  readonly ca?: string
  /** Whether no name server answers at all. */
  readonly isDown?: boolean
}

/** Nobody listens there: it is not given out to anybody. */
const NOBODY_PORT = 1

/** The internet of a plan. Nothing of it leaves this machine. */
export function internetOf({ names, mail = {}, ports, ca, isDown = false }: InternetPlan): Internet {
  const known = (name: string): boolean => Object.hasOwn(names, name) || Object.hasOwn(mail, name)
  const answered = async <T>(name: string, records: readonly T[]): Promise<T[]> => {
    if (isDown) throw refusalOf('ETIMEOUT')
    if (records.length > 0) return [...records]
    throw refusalOf(known(name) ? 'ENODATA' : 'ENOTFOUND')
  }
  const addresses = (name: string, isV6: boolean): readonly string[] =>
    (names[name] ?? []).filter((address) => address.includes(':') === isV6)
  const questions: NameQuestions = {
    resolve4: (name) => answered(name, addresses(name, false)),
    resolve6: (name) => answered(name, addresses(name, true)),
    resolveMx: (name) => answered(name, mail[name] ?? []),
    resolveNs: (name) => answered(name, ['a.root-servers.example']),
    cancel: () => {},
  }
  const to = (address: string, port: number) => {
    const host = address.includes(':') ? `[${address}]` : address
    return { address: '127.0.0.1', port: ports[`${host}:${port}`] ?? NOBODY_PORT }
  }
  return { ask: () => questions, dial: { to, ...(ca !== undefined && { ca }) } }
}

function refusalOf(code: string): Error {
  return Object.assign(new Error(code), { code })
}
