/** The table of the folders and files of a page. */
import type { ComponentChildren, VNode } from 'preact';

export function FileTable({ children }: { readonly children: ComponentChildren }): VNode {
  return (
    <table class="files">
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Size</th>
          <th scope="col">Changed</th>
          <th scope="col">By</th>
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}
