/** How a setting's text is read. */
export type SettingType =
  | { readonly kind: 'text'; readonly pattern?: RegExp; readonly allowed: string }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  | { readonly kind: 'integer'; readonly min: number; readonly max: number }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'dollars' }
  | { readonly kind: 'prices' }
  | { readonly kind: 'proxies' }

/** One setting: its name is its flag (`--rpc-port`), its variable (`FARTHING_RPC_PORT`) and its path in the file (`rpc.port`). */
export interface Setting {
  readonly type: SettingType
  /** Text of the default; null means unset. */
  readonly default: string | null
  readonly about: string
  /** Whether its value must not be shown: it may hold a password. */
  readonly isSecret?: true
  /** The parts of such a value that hold the secret, where the rest may be shown; global. */
  readonly secretParts?: RegExp
}

/** A setting of free text, by a pattern. */
export function text(about: string, fallback: string | null, allowed: string, pattern?: RegExp): Setting {
  return {
    type: pattern === undefined ? { kind: 'text', allowed } : { kind: 'text', allowed, pattern },
    default: fallback,
    about,
  }
}

/** A whole number within bounds. */
export function integer(about: string, fallback: number, [min, max]: readonly [number, number]): Setting {
  return { type: { kind: 'integer', min, max }, default: String(fallback), about }
}

/** One of some words. */
export function choice(about: string, fallback: string, choices: readonly string[]): Setting {
  return { type: { kind: 'choice', choices }, default: fallback, about }
}

/** True or false. */
export function flag(about: string, fallback: boolean): Setting {
  return { type: { kind: 'boolean' }, default: String(fallback), about }
}

/** Dollars with up to six decimals. */
export function dollars(about: string, fallback: string | null): Setting {
  return { type: { kind: 'dollars' }, default: fallback, about }
}
