//! The adapter and device: hardware where there is one, the software driver where not.

/// Why nothing can be drawn.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// No Vulkan driver at all.
    #[error(
        "no graphics adapter: no Vulkan driver answers ({0}). Install one; the software driver is enough: \
         apt-get install mesa-vulkan-drivers (Debian, Ubuntu), dnf install mesa-vulkan-drivers (Fedora)"
    )]
    NoAdapter(String),
    /// The adapter refused.
    #[error("the graphics adapter {adapter} gives no device: {reason}")]
    NoDevice {
        /// Name of the adapter.
        adapter: String,
        /// Its words.
        reason: String,
    },
    /// The device went away or ran out of memory while drawing.
    #[error("drawing failed: {0}")]
    Lost(String),
    /// A picture whose way back to memory does not fit one buffer.
    #[error(
        "a picture of {width}x{height} pixels is too large for this adapter: {most} bytes is the most it moves at once"
    )]
    Large {
        /// Asked width.
        width: u32,
        /// Asked height.
        height: u32,
        /// Bytes a buffer may have.
        most: u64,
    },
    /// A picture the adapter cannot hold.
    #[error("a picture of {width}x{height} pixels is not possible: each side must be 16 to {most}")]
    Size {
        /// Asked width.
        width: u32,
        /// Asked height.
        height: u32,
        /// Longest side.
        most: u32,
    },
}

/// A device to draw with.
#[derive(Debug)]
pub struct Context {
    /// Makes resources.
    pub device: wgpu::Device,
    /// Takes work.
    pub queue: wgpu::Queue,
    /// Which adapter it is.
    pub info: wgpu::AdapterInfo,
}

/// What an adapter is asked to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preference {
    /// The fastest there is.
    #[default]
    Fastest,
    /// A software adapter where there is one: tests, so that pictures are the same on every machine.
    Software,
}

/// The instance all adapters come from.
#[must_use]
pub fn instance() -> wgpu::Instance {
    wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends: wgpu::Backends::PRIMARY,
        flags: wgpu::InstanceFlags::from_build_config().with_env(),
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    })
}

/// The adapter that is wanted.
fn chosen(preference: Preference) -> Result<wgpu::Adapter, RenderError> {
    let instance = instance();
    pollster::block_on(async {
        if preference == Preference::Software {
            let adapters = instance.enumerate_adapters(wgpu::Backends::PRIMARY).await;
            let software = adapters.into_iter().find(|a| a.get_info().device_type == wgpu::DeviceType::Cpu);
            if let Some(adapter) = software {
                return Ok(adapter);
            }
        }
        instance
            .request_adapter(&wgpu::RequestAdapterOptions {
                power_preference: wgpu::PowerPreference::HighPerformance,
                ..Default::default()
            })
            .await
    })
    .map_err(|e| RenderError::NoAdapter(e.to_string()))
}

impl Context {
    /// A device that needs no window.
    ///
    /// # Errors
    /// [`RenderError::NoAdapter`] or [`RenderError::NoDevice`].
    pub fn headless(preference: Preference) -> Result<Self, RenderError> {
        Self::from_adapter(&chosen(preference)?)
    }

    /// A device that computes: with all that the adapter can of sizes, and with the numbers of shaders that it knows.
    ///
    /// # Errors
    /// [`RenderError::NoAdapter`] or [`RenderError::NoDevice`].
    pub fn computing(preference: Preference) -> Result<Self, RenderError> {
        let adapter = chosen(preference)?;
        // The last two: storage textures that are read, and those of formats that not every adapter has.
        let known = wgpu::Features::SHADER_F16
            | wgpu::Features::SHADER_F64
            | wgpu::Features::SHADER_INT64
            | wgpu::Features::TEXTURE_ADAPTER_SPECIFIC_FORMAT_FEATURES
            | wgpu::Features::TEXTURE_FORMAT_16BIT_NORM;
        Self::with(&adapter, adapter.limits(), adapter.features() & known)
    }

    /// A device that can draw into `surface`, and its adapter, which knows the surface's formats.
    ///
    /// # Errors
    /// [`RenderError::NoAdapter`] or [`RenderError::NoDevice`].
    pub fn for_surface(
        instance: &wgpu::Instance,
        surface: &wgpu::Surface<'_>,
    ) -> Result<(Self, wgpu::Adapter), RenderError> {
        let options = wgpu::RequestAdapterOptions {
            power_preference: wgpu::PowerPreference::HighPerformance,
            compatible_surface: Some(surface),
            ..Default::default()
        };
        let adapter = pollster::block_on(instance.request_adapter(&options))
            .map_err(|e| RenderError::NoAdapter(e.to_string()))?;
        Ok((Self::from_adapter(&adapter)?, adapter))
    }

    /// A device of this adapter.
    ///
    /// # Errors
    /// [`RenderError::NoDevice`].
    pub fn from_adapter(adapter: &wgpu::Adapter) -> Result<Self, RenderError> {
        // The downlevel limits are the same on every adapter, so the same paths run everywhere; only size is taken from it.
        let mut limits = wgpu::Limits::downlevel_defaults().using_resolution(adapter.limits());
        limits.max_buffer_size = adapter.limits().max_buffer_size;
        Self::with(adapter, limits, wgpu::Features::empty())
    }

    fn with(adapter: &wgpu::Adapter, limits: wgpu::Limits, features: wgpu::Features) -> Result<Self, RenderError> {
        let info = adapter.get_info();
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("orrery"),
            required_limits: limits,
            required_features: features,
            ..Default::default()
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor))
            .map_err(|e| RenderError::NoDevice { adapter: info.name.clone(), reason: e.to_string() })?;
        Ok(Self { device, queue, info })
    }

    /// One line about the adapter: `llvmpipe (software, Vulkan)`.
    #[must_use]
    pub fn describe(&self) -> String {
        let kind = match self.info.device_type {
            wgpu::DeviceType::Cpu => "software",
            wgpu::DeviceType::DiscreteGpu => "GPU",
            wgpu::DeviceType::IntegratedGpu => "integrated GPU",
            wgpu::DeviceType::VirtualGpu => "virtual GPU",
            wgpu::DeviceType::Other => "other",
        };
        format!("{} ({kind}, {:?})", self.info.name, self.info.backend)
    }
}
