//! What the program with workers has more. The one that is tested has it not, but for these lists of options.

use super::commands::{arguments, one};
use crate::args::{WorkerArgs, WorkersArgs};
use clap::{Args, Command};

pub fn page() -> String {
    let mut text = String::from(
        "# With workers\n\nWhat the program has more that the folder `cluster` makes ([When one machine is not enough](../workers.md)). The one that is installed \
         says of all this that it was built without workers. The options of `lode serve` can be set as [the others](settings.md).\n\n",
    );
    let worker = WorkerArgs::augment_args(Command::new("worker").bin_name("lode worker"));
    one("lode worker", &worker.about("Run parts of queries for other machines"), &mut text);
    text.push_str("## lode query, lode serve\n\n");
    text.push_str(&arguments(&WorkersArgs::augment_args(Command::new("serve"))));
    text.trim_end().to_owned() + "\n"
}
