//! How the file of a topology is read, as a scenario has it.

crate::table! {
    /// The attribute of a file that states a quantity.
    pub struct AttributeSource {
        /// What the file calls it.
        name: String;
        /// Its unit, such as `"Mbps"`, `"ms"`, `"km"` or `"%"`: capacities, delays, lengths and losses need one, the others
        /// have none.
        unit: Option<String>;
        /// What the file calls that of the other direction, from the second end of a link to the first; left out, both
        /// are the same.
        backward: Option<String>;
    }
}

crate::table! {
    /// Attributes of the links and nodes of a file whose name or unit says too little:
    /// `capacity = { name = "bw", unit = "Mbps" }`. What stands here takes precedence over what the names say.
    pub struct FileAttributes {
        /// Capacity of links.
        capacity: Option<AttributeSource>;
        /// One-way propagation delay of links; half of an attribute whose name says `rtt`.
        delay: Option<AttributeSource>;
        /// Length of links.
        length: Option<AttributeSource>;
        /// Share of packets that links lose.
        loss: Option<AttributeSource>;
        /// Cost of links for routing.
        weight: Option<AttributeSource>;
        /// Label of links.
        label: Option<AttributeSource>;
        /// Name of nodes.
        name: Option<AttributeSource>;
        /// Degrees north of nodes; `"pos[1]"` is the second entry of a list.
        latitude: Option<AttributeSource>;
        /// Degrees east of nodes.
        longitude: Option<AttributeSource>;
    }
}

crate::table! {
    /// How the file of a topology is read.
    pub struct TopologyFile {
        /// Which of its attributes are which quantities, and in which unit.
        attributes: Option<FileAttributes>;
    }
}
