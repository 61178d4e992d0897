import { randomUUID } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Config } from '../../config/settings.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import { ClaimsAway } from '../../marketplace/till/claim-store.ts'
import type { OpenClaims, OpenTabs } from '../daemon/open-core.ts'
import { systemTimers } from '../daemon/runtime.ts'
import { writeFileAtomically } from './atomic-file.ts'
import { LevelClaimStore } from './level-claims.ts'
import { LevelTabStore } from './level-tabs.ts'

const SECOND_MS = 1_000

/** Opens what a seller keeps of paid calls. */
export interface ClaimsOpener {
  readonly openClaims: OpenClaims
  readonly openTabs: OpenTabs
}

/** LevelDB in the data folder. */
export const LEVEL_CLAIMS: ClaimsOpener = {
  openClaims: (path, kind) => LevelClaimStore.open(path, kind),
  openTabs: async (path) => ({ store: await LevelTabStore.open(path), secret: null }),
}

/**
 * LevelDB in the data folder, or PostgreSQL if `market.claims-url` names one, with one pool for all kinds of claims.
 * Problems with PostgreSQL are thrown as {@link ClaimsAway} when a store is opened.
 */
export function claimsOpener({ market }: Pick<Config, 'market'>, network: string): ClaimsOpener {
  const { claimsUrl, claimsLeaseSeconds } = market
  if (claimsUrl === null) return LEVEL_CLAIMS
  let opened: ReturnType<typeof openShared> | undefined
  const shared = (path: string): ReturnType<typeof openShared> => {
    opened ??= openShared({ url: claimsUrl, leaseMs: claimsLeaseSeconds * SECOND_MS, network, folder: dirname(path) })
    return opened
  }
  return {
    openClaims: async (path, kind) => (await shared(path)).store(kind),
    openTabs: async (path) => {
      const claims = await shared(path)
      return { store: claims.tabs(), secret: (name, make) => claims.secret(name, make) }
    },
  }
}

interface SharedPlace {
  readonly url: string
  readonly leaseMs: number
  readonly network: string
  readonly folder: string
}

/** Imports the PostgreSQL code only when it is used. */
async function openShared({ url, leaseMs, network, folder }: SharedPlace) {
  const [{ PostgresClaims }, { postgresPlace }, { whyNot }] = await Promise.all([
    import('./postgres-claims.ts'),
    import('./postgres-place.ts'),
    import('./postgres-database.ts'),
  ])
  const place = postgresPlace(url)
  if (!place.ok) throw new ClaimsAway(place.fault)
  const home = await homeOf(folder)
  try {
    return await PostgresClaims.open({ place: place.value, network, home, leaseMs, timers: systemTimers })
  } catch (error) {
    throw new ClaimsAway(fault('market/claims-unusable', { place: place.value.name, reason: whyNot(error) }), error)
  }
}

/** The name of a data folder among replicas, created on first use. */
async function homeOf(folder: string): Promise<string> {
  const path = join(folder, 'replica.id')
  const known = await readFile(path, 'utf8').catch(() => '')
  if (/^[0-9a-f-]{36}$/.test(known.trim())) return known.trim()
  const made = randomUUID()
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await writeFileAtomically(path, `${made}\n`)
  return made
}
