//! The adapters have the same files with the same public items, so that a program for one needs another name only for the other. The
//! guides are in one of them, and hold for both.

use std::fs;
use std::path::Path;

use quote::{ToTokens, quote};
use syn::{ImplItem, Item, Visibility};

#[test]
fn the_adapters_have_the_same_items() {
    let (tokio, smol) = (items("tokio"), items("smol"));
    assert!(tokio.len() > 10, "the items were not found");
    for (one, other) in tokio.iter().zip(&smol) {
        assert_eq!(one, other);
    }
    assert_eq!(tokio.len(), smol.len());
}

/// File by file, in order: each public item without its body, and what public types implement.
fn items(runtime: &str) -> Vec<String> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../mcp-{runtime}/src"));
    let mut files: Vec<_> = fs::read_dir(sources)
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    let files = files.into_iter().map(|file| {
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&file).unwrap();
        (name, syn::parse_file(&text).unwrap().items)
    });
    let files: Vec<_> = files.collect();
    let public_types: Vec<_> = files
        .iter()
        .flat_map(|(_, items)| items)
        .filter_map(type_name)
        .collect();
    let mut found = Vec::new();
    for (name, items) in files {
        let shapes = items
            .into_iter()
            .filter_map(|item| shape(item, &public_types));
        found.push(format!("file {name}"));
        found.extend(shapes.map(|shape| shape.replace(runtime, "runtime")));
    }
    found
}

fn type_name(item: &Item) -> Option<String> {
    let (visibility, name) = match item {
        Item::Struct(item) => (&item.vis, &item.ident),
        Item::Enum(item) => (&item.vis, &item.ident),
        _ => return None,
    };
    public(visibility).then(|| name.to_string())
}

fn shape(item: Item, public_types: &[String]) -> Option<String> {
    let tokens = match item {
        Item::Fn(item) if public(&item.vis) => item.sig.to_token_stream(),
        Item::Struct(item) if public(&item.vis) => {
            let (name, generics) = (&item.ident, &item.generics);
            let fields = item.fields.iter().filter(|field| public(&field.vis));
            quote!(struct #name #generics { #(#fields),* })
        }
        Item::Impl(item) => {
            let (generics, owner) = (&item.generics, &item.self_ty);
            let name = owner.to_token_stream().to_string();
            if !public_types.contains(&name) {
                return None;
            }
            let parent = item.trait_.as_ref().map(|(path, _)| quote!(#path for));
            let members = item.items.iter().filter_map(|member| match member {
                ImplItem::Fn(function) if parent.is_some() || public(&function.vis) => {
                    Some(function.sig.to_token_stream())
                }
                ImplItem::Const(constant) if public(&constant.vis) => {
                    Some(constant.ident.to_token_stream())
                }
                _ => None,
            });
            quote!(impl #generics #parent #owner { #(#members;)* })
        }
        Item::Mod(item) if item.ident != "guide" => {
            let (visibility, name) = (&item.vis, &item.ident);
            quote!(#visibility mod #name)
        }
        Item::Use(item) if public(&item.vis) => item.to_token_stream(),
        Item::Enum(item) if public(&item.vis) => item.to_token_stream(),
        Item::Trait(item) if public(&item.vis) => item.to_token_stream(),
        Item::Type(item) if public(&item.vis) => item.to_token_stream(),
        Item::Const(item) if public(&item.vis) => item.to_token_stream(),
        Item::Macro(item) if item.ident.is_some() => item.to_token_stream(),
        _ => return None,
    };
    Some(tokens.to_string())
}

fn public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}
