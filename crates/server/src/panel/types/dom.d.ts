// What `h` and `svg` of dom.js take and give. Only types: nothing here is shipped.

declare namespace Dom {
  type Child = Node | string | number | boolean | null | undefined | readonly Child[];

  /** The tag of `"button.primary.small"`. */
  type Tag<Name extends string> = Name extends `${infer First}.${string}` ? First : Name;
  type Element<Name extends string> =
    Tag<Name> extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[Tag<Name>] : never;

  type AttributeValue = string | number | boolean | null | undefined;
  type Listeners<Target> = {
    [Type in keyof GlobalEventHandlersEventMap as `on${Type}`]?:
      ((event: GlobalEventHandlersEventMap[Type] & { currentTarget: Target }) => unknown) | null;
  };

  /** Properties whose attribute is not set by assigning to them, or that take something else here. */
  type Special = "style" | "dataset" | "list" | "form" | "className" | `on${string}`;
  type Properties<Target> = {
    [Key in Exclude<keyof Target, Special> as Target[Key] extends string | number | boolean | null ? Key : never]?:
      Target[Key] | null;
  };

  type Props<Target> = Properties<Target> &
    Listeners<Target> & {
      class?: string | null;
      style?: Record<string, string | number>;
      dataset?: Record<string, string>;
      role?: string;
      list?: string;
      [aria: `aria-${string}`]: AttributeValue;
    };

  type SvgProps = Record<string, AttributeValue | ((event: Event) => void)>;

  /** Calls that come in quick succession become one. */
  interface Debounced {
    (): void;
    cancel: () => void;
  }
}

interface Window {
  /** Set by theme.js. */
  throughlineTheme: { get: () => string; set: (theme: string) => void };
}
