/** Owns the umask: the command's own, for files that hold keys, and the user's, for files that are synced. */
const ofUser = process.umask();

/** From here on nothing that this process makes is for other users. */
export function useUmaskOfService(): void {
  process.umask(0o077);
}

/** From here on new files and folders get the permissions that the user's other programs give. */
export function useUmaskOfUser(): void {
  process.umask(ofUser);
}
