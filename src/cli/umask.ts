/** Sets the umask: a private one for files that contain keys, the user's for synced files. */
const ofUser = process.umask();

/** Makes new files and folders inaccessible to other users. */
export function useUmaskOfService(): void {
  process.umask(0o077);
}

/** Gives new files and folders the permissions of the user's own umask. */
export function useUmaskOfUser(): void {
  process.umask(ofUser);
}
