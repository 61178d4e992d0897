import { ACCOUNT_ROUTES } from './accounts.ts'
import { AGENT_DOOR_ROUTES } from './agent-doors.ts'
import { AGENT_ROUTES } from './agents.ts'
import { BRIDGE_ROUTES } from './bridge.ts'
import { CHAIN_ROUTES } from './chain.ts'
import { CHAIN_TAB_ROUTES } from './chain-tabs.ts'
import { CHAT_ROUTES } from './chat.ts'
import { CHAT_KEY_ROUTES } from './chat-keys.ts'
import { DASHBOARD_ROUTES } from './dashboard.ts'
import { DISCOVERY_ROUTES } from './discovery.ts'
import { EVENT_ROUTES } from './events.ts'
import { FACILITATOR_ROUTES } from './facilitator.ts'
import { INFO_ROUTES } from './info.ts'
import { MARKET_ROUTES } from './market.ts'
import { MINING_ROUTES } from './mining.ts'
import { OPERATIONS_ROUTES } from './operations.ts'
import { PEER_ROUTES } from './peers.ts'
import { POOL_ROUTES } from './pools.ts'
import type { Route } from './route.ts'
import { SIMULATION_ROUTES } from './simulation.ts'
import { STAKING_ROUTES } from './staking.ts'
import { TAB_ROUTES } from './tabs.ts'
import { TOKEN_ROUTES } from './tokens.ts'
import { TRIAL_ROUTES } from './trials.ts'
import { VOICE_ROUTES } from './voice.ts'

/** Every operation of the API. */
export const ROUTES = {
  ...CHAIN_ROUTES,
  ...SIMULATION_ROUTES,
  ...ACCOUNT_ROUTES,
  ...TOKEN_ROUTES,
  ...POOL_ROUTES,
  ...STAKING_ROUTES,
  ...BRIDGE_ROUTES,
  ...CHAT_ROUTES,
  ...VOICE_ROUTES,
  ...INFO_ROUTES,
  ...CHAT_KEY_ROUTES,
  ...DASHBOARD_ROUTES,
  ...AGENT_ROUTES,
  ...CHAIN_TAB_ROUTES,
  ...MARKET_ROUTES,
  ...TAB_ROUTES,
  ...AGENT_DOOR_ROUTES,
  ...FACILITATOR_ROUTES,
  ...DISCOVERY_ROUTES,
  ...EVENT_ROUTES,
  ...MINING_ROUTES,
  ...PEER_ROUTES,
  ...TRIAL_ROUTES,
  ...OPERATIONS_ROUTES,
} as const satisfies Record<string, Route>

/** Name of an operation. */
export type OperationId = keyof typeof ROUTES
