export const SNAPSHOT_TARGETS: readonly import('../target.ts').Target[] = []
